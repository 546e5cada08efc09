SELECT samples.*
FROM samples JOIN minutes ON minutes.target = samples.target AND minutes.queue = samples.queue
    AND minutes.recorder = samples.recorder AND minutes.zone = samples.zone
    AND minutes.date = samples.date AND minutes.bucket = samples.bucket
    AND minutes.start_at = floor(samples.sampled_at / 60) * 60
